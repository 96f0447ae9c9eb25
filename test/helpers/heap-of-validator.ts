// Run by itself, with the little heap of test/integration/validator-memory.test.ts: has a value refused whose every item breaks all of a
// schema's branches, and prints how many violations are told of it.
import { createValidator } from '../../src/lib/json-schema/validator.ts';

const schema = { items: { anyOf: Array.from({ length: 200 }, (_, at) => ({ const: `k${at}` })) } };
const told = createValidator(schema).validate(Array.from({ length: 49_000 }, () => 'x'));
process.stdout.write(String(told.length));
