// What REST refuses in a body or a query is refused in a message too, before anybody acts on it.
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { PROTO_DIR, PROTO_FILE, PROTO_PACKAGE, REQUESTS, type Readable } from '../wire-types.ts';
import { readable } from './said-fields.ts';

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => PROTO_DIR + target;
root.loadSync(PROTO_FILE);

/** Of proto/: every field that is a text, in the message and in those inside it. */
function textsOf(type: protobuf.Type): readonly string[][] {
  return type.fieldsArray.flatMap((field) => {
    field.resolve();
    if (field.type === 'string') return [[field.name]];
    if (!(field.resolvedType instanceof protobuf.Type)) return [];
    return textsOf(field.resolvedType).map((path) => [field.name, ...path]);
  });
}

const CALLS = ['Execute', 'ExecuteStream', 'StartCall', 'Converse'];
const cases = Object.entries(REQUESTS)
  .filter(([method]) => !CALLS.includes(method))
  .flatMap(([method, decode]) => {
    const type = root.lookupType(`${PROTO_PACKAGE}.${method}Request`);
    return textsOf(type).map((path) => ({ method, type, path, field: path.join('.'), decode }));
  });
const [inPaths, others] = [true, false].map((isInPath) =>
  cases.filter(({ field }) => ['id', 'name'].includes(field) === isInPath),
);
const nested = (path: readonly string[]): object =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), 'a\0b') as object;
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe('a message that is no call', () => {
  it.each(others ?? [])('of $method with NUL in $field is refused by that name', ({ type, path, decode }) => {
    const message = decode(type.encode(type.fromObject(nested(path))).finish()) as Readable<object>;
    expect(() => readable(message)).toThrow(
      expect.objectContaining({
        type: 'VALIDATION',
        reason: 'NUL',
        details: {
          violations: [
            { pointer: `/${path.map(snake).join('/')}`, message: 'must not hold a NUL character' },
          ],
        },
      }),
    );
  });

  it.each(inPaths ?? [])(
    'of $method whose $field holds NUL is looked up, as from a path of REST',
    ({ type, path, decode }) => {
      const message = decode(type.encode(type.fromObject(nested(path))).finish()) as Readable<object>;
      expect(readable(message)).toMatchObject(nested(path));
    },
  );
});
