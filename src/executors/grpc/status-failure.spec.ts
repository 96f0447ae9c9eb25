// Statuses of an upstream as failures: each its type, and nothing of its words but what may be read.
import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { secretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import { GrpcStatusError } from '../../ports/egress/grpc-upstreams.ts';
import { grpcOptionsSchema } from './options-schema.ts';
import { statusFailure } from './status-failure.ts';

const told = { scrub: (text: string) => text.replaceAll('s3cret', '[secret]'), shows: true, hasBegun: false };

it('what turned the call down did nothing, unless messages had come', () => {
  const refused = new GrpcStatusError(3, 'no', undefined);
  expect(statusFailure(refused, told)).toMatchObject({ type: 'VALIDATION', partialSideEffects: false });
  expect(statusFailure(refused, { ...told, hasBegun: true }).partialSideEffects).toBeUndefined();
  expect(statusFailure(new GrpcStatusError(14, 'no', undefined), told)).toMatchObject({
    type: 'TRANSIENT',
    reason: 'GRPC_UNAVAILABLE',
    retryable: true,
    partialSideEffects: undefined,
  });
});

it('a message is one line without secrets and hidden characters, and is not shown where it is to be hidden', () => {
  const error = new GrpcStatusError(9, `a s3cret\nof \u202etwo lines`, undefined);
  const { message, details } = statusFailure(error, told);
  expect(message).toBe('The upstream answered FAILED_PRECONDITION: a [secret] of two lines');
  expect(details).toMatchObject({ upstream: { untrusted: true, message: 'a [secret] of two lines' } });
  const hidden = statusFailure(error, { ...told, shows: false });
  expect(hidden.message).toBe('The upstream answered FAILED_PRECONDITION.');
  expect(hidden.details).toEqual({ status: 'FAILED_PRECONDITION' });
});

it('a secret that the upstream gives back is hidden, between characters that nobody sees and in the name of a field too', () => {
  const field = (number: number, value: Uint8Array) =>
    new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(value).finish();
  const violation = Buffer.concat([
    field(1, Buffer.from('a.eyJh.eyJz.c2ln[0]')),
    field(2, Buffer.from('eyJh.\u200beyJz.c2ln')),
  ]);
  const badRequest = toBinary(
    AnySchema,
    create(AnySchema, { typeUrl: 'type.googleapis.com/google.rpc.BadRequest', value: field(1, violation) }),
  );
  const { text: scrub } = secretScrubber(['eyJh.eyJz.c2ln', 'k/ey1234']);
  const error = new GrpcStatusError(3, 'no eyJh.\u200be\u200byJz.c2ln', field(3, badRequest));
  const { message, details } = statusFailure(error, { ...told, scrub });
  expect(message).toBe('The upstream answered INVALID_ARGUMENT: no [secret]');
  expect(details?.['violations']).toEqual([{ pointer: '/a/[secret]/0', message: '[secret]' }]);
});

it('any code and any details at all make a failure, and no exception', () => {
  const details = fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined });
  fc.assert(
    fc.property(
      fc.integer(),
      fc.string({ unit: 'binary', maxLength: 50 }),
      details,
      (code, message, bytes) => {
        const failure = statusFailure(new GrpcStatusError(code, message, bytes), told);
        expect(failure.origin).toBe('tool');
        expect(failure.message.length).toBeLessThan(600);
      },
    ),
  );
});

it.each<[object, string]>([
  [{ 'x-team': '{team}' }, 'would be an argument'],
  [{ authorization: 'Bearer abc' }, 'carries a secret'],
  [{ 'grpc-timeout': '1S' }, 'set by gRPC itself'],
  [{ 'x-bin': 'a', 'trace-bin': 'b' }, 'would be binary'],
])('metadata %j of a tool is refused', (metadata, message) => {
  const parsed = grpcOptionsSchema.safeParse({ connection: 'c', method: 'a.B/C', metadata });
  expect(parsed.error?.issues.map((issue) => issue.message).join()).toContain(message);
});
