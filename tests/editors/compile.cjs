// Compiles the schemas that are named, as plainly as can be, and again with what ajv only warns of
// as an error. Two things are allowed: lists of types, and a field that is required where it is not
// described.
const fs = require("fs");
const { default: Ajv } = require(process.argv[2] + "/ajv/dist/2020.js");

for (const path of process.argv.slice(3)) {
  const schema = JSON.parse(fs.readFileSync(path));
  new Ajv({ logger: false }).compile(schema);
  new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(schema);
}
