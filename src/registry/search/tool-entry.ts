// What is kept of a tool in an index, by where it stands: names say more than documentation.
import { isJsonObject } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';

export interface Entry {
  readonly id: number;
  readonly name: string;
  readonly summary: string;
  readonly tags: string;
  readonly parameters: string;
  readonly details: string;
}

export const WEIGHTS = { name: 4, summary: 3, tags: 1, parameters: 0.7, details: 0.5 };
export const ALL_FIELDS = Object.keys(WEIGHTS);
export const NAMING_FIELDS = ['name', 'summary', 'tags'];
/** Of one tool. */
const MOST_PARAMETERS = 60;

export function entryOf(id: number, fn: ToolFunction): Entry {
  const { tags, category = '', summary = '', documentation = '' } = fn.spec.metadata;
  const parameters = parametersOf(fn);
  return {
    id,
    name: fn.name,
    summary:
      summary === '' || fn.description.includes(summary) ? fn.description : `${summary}\n${fn.description}`,
    tags: [...tags, category].join(' '),
    parameters: parameters.map(({ name }) => name).join(' '),
    details: [documentation, ...parameters.map(({ description }) => description)].join('\n'),
  };
}

function parametersOf({ inputSchema }: ToolFunction) {
  const { properties } = inputSchema;
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties)
    .slice(0, MOST_PARAMETERS)
    .map(([name, schema]) => {
      const description = isJsonObject(schema) ? schema['description'] : undefined;
      return { name, description: typeof description === 'string' ? description : '' };
    });
}
