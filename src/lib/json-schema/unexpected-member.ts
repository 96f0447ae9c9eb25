// What is said of a member that nothing declares: the declared name that was probably meant.
import type { ErrorObject } from 'ajv';
import { didYouMean } from '../text/did-you-mean.ts';
import { fromPointer } from '../json/json-pointer.ts';
import { namedProperties, schemaAt } from './named-properties.ts';

/** Comparing words takes time, and who sends a thousand wrong ones needs no advice about each. */
const MAX_HINTS = 3;
const MAX_CANDIDATES = 200;

/** For the violations of one value; the names that it has already are not proposed. */
export function hintsFor(schema: object, value: unknown): (error: ErrorObject) => (name: string) => string {
  let hintsLeft = MAX_HINTS;
  return ({ schemaPath, instancePath }) =>
    (name) => {
      hintsLeft -= 1;
      if (hintsLeft < 0) return '';
      const around = schemaPath.slice(1, schemaPath.lastIndexOf('/'));
      const given = membersAt(value, instancePath);
      const free = [...namedProperties(schemaAt(schema, around), schema)].filter((each) => !given(each));
      const near = didYouMean(name, free.slice(0, MAX_CANDIDATES));
      return near === undefined ? '' : `; did you mean "${near}"?`;
    };
}

function membersAt(value: unknown, pointer: string): (name: string) => boolean {
  let current = value;
  for (const step of fromPointer(pointer)) {
    if (typeof current !== 'object' || current === null) break;
    current = (current as { readonly [step: string]: unknown })[step];
  }
  const found = current;
  return (name) => typeof found === 'object' && found !== null && Object.hasOwn(found, name);
}
