// Compiles the schemas that are named, with what ajv only warns of as an error, but for lists of
// types: what compiles so compiles with fewer demands. The code that comes of it is not run, and so
// not made quick.
const fs = require("fs");
const { default: Ajv } = require(process.argv[2] + "/ajv/dist/2020.js");

for (const path of process.argv.slice(3)) {
  const schema = JSON.parse(fs.readFileSync(path));
  new Ajv({ strictTypes: true, allowUnionTypes: true, code: { optimize: false } }).compile(schema);
}
