// The arguments of a tool: one flat set of names for parameters and body, each a name that templates can hold.
import type { JsonSchema } from '../../contract/json.ts';

const LONGEST_NAME = 64;

export class Arguments {
  readonly #properties: [string, JsonSchema][] = [];
  readonly #taken = new Set<string>();
  readonly #required: string[] = [];

  /** The argument's name: as wanted where that can be, told apart from others by where it goes. */
  add(wanted: string, where: string, schema: JsonSchema, required: boolean): string {
    const name = this.#free(argumentName(wanted), where);
    this.#taken.add(name);
    this.#properties.push([name, schema]);
    if (required) this.#required.push(name);
    return name;
  }

  inputSchema(): JsonSchema {
    return {
      type: 'object',
      properties: Object.fromEntries(this.#properties),
      ...(this.#required.length > 0 && { required: this.#required }),
      additionalProperties: false,
    };
  }

  #free(name: string, where: string): string {
    if (!this.#taken.has(name)) return name;
    const base = `${name}_${where}`;
    for (let count = 1; ; count += 1) {
      const tried = count === 1 ? base : `${base}_${count}`;
      if (!this.#taken.has(tried)) return tried;
    }
  }
}

function argumentName(wanted: string): string {
  const name = wanted.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, LONGEST_NAME);
  if (/^[A-Za-z_]/.test(name) && name !== '_') return name;
  return name === '' || name === '_' ? 'value' : `_${name}`;
}
