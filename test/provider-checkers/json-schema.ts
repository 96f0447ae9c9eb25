// JSON Schema 2020-12 itself, by its meta-schema: what OpenAI and Anthropic say they hold tools to.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { everySchema, isSchema, targetOf } from './walk.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** What is wrong with the schema; empty: nothing. */
export function faultsOfJsonSchema(root: unknown): readonly string[] {
  const faults: string[] = [];
  if (ajv.validateSchema(root as object) !== true)
    faults.push(`is no schema of 2020-12: ${ajv.errorsText()}`);
  for (const { schema, at } of everySchema(root)) {
    if (!isSchema(schema)) continue;
    for (const keyword of ['definitions', 'dependencies', 'additionalItems', 'nullable', '$schema'])
      if (keyword in schema) faults.push(`${at}/${keyword} is a keyword of another dialect`);
    if ('$ref' in schema && targetOf(schema['$ref'], root) === undefined)
      faults.push(`${at}/$ref leads nowhere: ${String(schema['$ref'])}`);
  }
  return faults;
}
