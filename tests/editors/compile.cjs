// Compiles the schemas that are named: the first as plainly as can be, and all of them with what ajv
// only warns of as an error, but for lists of types.
const fs = require("fs");
const { default: Ajv } = require(process.argv[2] + "/ajv/dist/2020.js");

const [first, ...others] = process.argv.slice(3).map((path) => JSON.parse(fs.readFileSync(path)));
new Ajv({ logger: false }).compile(first);
for (const schema of [first, ...others]) {
  new Ajv({ strictTypes: true, allowUnionTypes: true }).compile(schema);
}
