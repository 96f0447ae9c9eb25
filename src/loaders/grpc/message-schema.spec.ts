// Schemas of messages with a JSON of their own: they take what is read from the wire, and what can be written to it.
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { KITCHEN } from '../../../test/helpers/grpc-upstream.ts';
import { atOnce } from '../../lib/concurrency/in-slices.ts';
import { compileProtos } from '../../lib/grpc/compile-protos.ts';
import { decodeMessage } from '../../lib/grpc/message/decode-message.ts';
import { openDescriptors } from '../../lib/grpc/descriptor-set.ts';
import { encodeMessage } from '../../lib/grpc/message/encode-message.ts';
import { createValidator } from '../../lib/json-schema/validator.ts';
import { messageSchema } from './message-schema.ts';

const types = openDescriptors(compileProtos([KITCHEN], [dirname(KITCHEN)]).files);
const EVERYTHING = types.getMessage('kitchen.v1.Everything') ?? expect.unreachable();

it.each(['arguments', 'result'] as const)(
  'an Any may be empty in %s; one that is not names its type',
  (of) => {
    const validator = createValidator(messageSchema(EVERYTHING, { said: () => undefined, of }));
    const empty = { detail: {} };
    const bytes = encodeMessage(EVERYTHING, empty, types);
    expect(atOnce(decodeMessage(EVERYTHING, bytes, { types, defaults: false }))).toEqual(empty);
    expect(validator.validate(empty)).toEqual([]);
    expect(validator.validate({ detail: { '@type': 'x/kitchen.v1.Number', value: 5 } })).toEqual([]);
    expect(validator.validate({ detail: { value: 5 } })).toContainEqual({
      pointer: '/detail/@type',
      message: expect.any(String),
    });
  },
);
