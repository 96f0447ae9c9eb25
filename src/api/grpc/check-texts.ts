// Protobuf lets a string hold U+0000, which JSON text is refused for before any of REST's shapes sees it.
import { snakeCase } from '../../lib/settings/snake-case.ts';
import { checkText } from '../read-context.ts';

const NONE: ReadonlySet<string> = new Set();

/** Every text of the message, by the name that its field has in proto/, but those of `except`. Throws ToolFailure VALIDATION. */
export function checkTexts(message: object, except = NONE, parent = ''): void {
  for (const [name, value] of Object.entries(message) as [string, unknown][]) {
    const pointer = `${parent}/${snakeCase(name)}`;
    if (except.has(pointer)) continue;
    if (typeof value === 'string') checkText(value, pointer);
    // Bytes are read as JSON where they are read.
    else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array))
      checkTexts(value, except, pointer);
  }
}
