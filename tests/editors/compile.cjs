// Compiles the schemas that are named, with what ajv only warns of as an error, but for lists of
// types: what compiles so compiles with fewer demands.
const fs = require("fs");
const { default: Ajv } = require(process.argv[2] + "/ajv/dist/2020.js");

for (const path of process.argv.slice(3)) {
  const schema = JSON.parse(fs.readFileSync(path));
  new Ajv({ strictTypes: true, allowUnionTypes: true }).compile(schema);
}
