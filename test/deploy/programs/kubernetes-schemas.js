// Writes JSON Schemas of Kubernetes' objects for kubeconform, out of the OpenAPI document of the module k8s.io/kubernetes and out
// of CustomResourceDefinitions. Strict: a field that the API does not know is a fault.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const INT_OR_STRING = { oneOf: [{ type: 'string' }, { type: 'integer' }] };
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
/** What a chart may hold: stable versions only. */
const STABLE = /^v\d+$/;

/** `openApi`: path of swagger.json; `crds`: a folder of CustomResourceDefinitions; `out`: an empty folder. */
export function writeSchemas({ openApi, crds, out }) {
  mkdirSync(out, { recursive: true });
  const { definitions } = JSON.parse(readFileSync(openApi, 'utf8'));
  const strict = Object.fromEntries(
    Object.entries(definitions).map(([name, each]) => [
      name,
      name === QUANTITY ? { oneOf: [{ type: 'string' }, { type: 'number' }] } : strictly(each),
    ]),
  );
  for (const [name, definition] of Object.entries(definitions)) {
    for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? []) {
      if (!STABLE.test(version) || definition.properties?.kind === undefined) continue;
      const whole = { ...strict[name], definitions: reached(strict, name) };
      write(out, { group, version, kind }, whole);
    }
  }
  for (const file of readdirSync(crds)) {
    const { spec } = parse(readFileSync(join(crds, file), 'utf8'));
    for (const { name: version, schema } of spec.versions)
      write(out, { group: spec.group, version, kind: spec.names.kind }, strictly(schema.openAPIV3Schema));
  }
}

function write(out, { group, version, kind }, schema) {
  // As kubeconform asks for it: the first word of the group.
  const file = [kind, group.split('.')[0], version]
    .filter((part) => part !== '')
    .join('-')
    .toLowerCase();
  writeFileSync(join(out, `${file}.json`), JSON.stringify(schema));
}

/** The definitions that one refers to, over others too. */
function reached(all, name, found = {}) {
  for (const [, next] of JSON.stringify(all[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) {
    if (next in found) continue;
    found[next] = all[next];
    reached(all, next, found);
  }
  return found;
}

function strictly(schema) {
  if (Array.isArray(schema)) return schema.map(strictly);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true)
    return INT_OR_STRING;
  const { description: _, example: __, ...kept } = schema;
  const walked = Object.fromEntries(
    Object.entries(kept).map(([key, value]) => [key, key === 'properties' ? ofEach(value) : strictly(value)]),
  );
  const isOpen =
    schema.properties === undefined ||
    schema.additionalProperties !== undefined ||
    schema['x-kubernetes-preserve-unknown-fields'] === true;
  return isOpen ? walked : { ...walked, additionalProperties: false };
}

const ofEach = (properties) =>
  Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, strictly(property)]));
