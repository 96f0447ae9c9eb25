// Rich errors: every error type ends a call with the contract's status and details that programs can read.
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { ERROR_TYPES, type ErrorType } from '../../contract/call/error-types.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { ToolError } from '../../contract/call/tool-response.ts';
import { statusCodeOf, statusOf } from './rich-error.ts';
import { decodeStruct } from './struct/struct-codec.ts';
import { PROTO_DIR } from './wire-types.ts';

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => PROTO_DIR + target;
root.loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto', 'google/protobuf/struct.proto']);

interface Status {
  readonly code: number;
  readonly message: string;
  readonly details: readonly { readonly type_url: string; readonly value: Uint8Array }[];
}

function errorOf(changes: Partial<ToolError> = {}): ToolError {
  return {
    type: 'VALIDATION',
    message: 'Wrong.',
    retryable: false,
    partialSideEffects: false,
    origin: 'caller',
    reason: 'SCHEMA_MISMATCH',
    retryAfterMs: null,
    details: {},
    ...changes,
  };
}

function read(error: ToolError) {
  const { code, details: text, metadata } = statusOf(error, { callId: 'call-1', tool: 'greet' });
  const [bytes] = metadata.get('grpc-status-details-bin');
  const status = root.lookupType('google.rpc.Status').decode(bytes as Buffer) as unknown as Status;
  const details: Record<string, Record<string, unknown>> = {};
  for (const { type_url: typeUrl, value } of status.details) {
    const type = root.lookupType(typeUrl.slice('type.googleapis.com/'.length));
    if (type.name === 'Struct') details['Struct'] = decodeStruct(value);
    else details[type.name] = type.toObject(type.decode(value), { longs: Number });
  }
  return { code, text, status, details, bytes: bytes as Buffer };
}

describe('rich errors', () => {
  it('gives every error type the code of the contract, in the status and in its details', () => {
    for (const type of Object.keys(ERROR_TYPES) as ErrorType[]) {
      const error = errorOf({ type, origin: ERROR_TYPES[type].origin });
      const expected =
        ERROR_TYPES[type].origin === 'tool' && !type.startsWith('OUTPUT') ? 0 : ERROR_TYPES[type].grpc;
      expect(statusCodeOf(error)).toBe(expected);
      expect(read(error).status.code).toBe(expected);
    }
  });

  it('always says in ErrorInfo whose error it is, which one, and of which call', () => {
    const { details, text, status } = read(errorOf());
    expect(details['ErrorInfo']).toEqual({
      reason: 'SCHEMA_MISMATCH',
      domain: 'unified-tool-executor',
      metadata: {
        type: 'VALIDATION',
        origin: 'caller',
        retryable: 'false',
        partial_side_effects: 'false',
        call_id: 'call-1',
        tool: 'greet',
      },
    });
    expect([text, status.message]).toEqual(['Wrong.', 'Wrong.']);
  });

  it('names every wrong field of a validation error', () => {
    const violations = [
      { pointer: '/a', message: 'must be a number' },
      { pointer: '/b', message: 'is missing' },
    ];
    expect(read(errorOf({ details: { violations } })).details['BadRequest']).toEqual({
      fieldViolations: [
        { field: '/a', description: 'must be a number' },
        { field: '/b', description: 'is missing' },
      ],
    });
  });

  it('says when to try again, to the nanosecond', () => {
    const { details } = read(errorOf({ type: 'UNAVAILABLE', origin: 'gateway', retryAfterMs: 1250.5 }));
    expect(details['RetryInfo']).toEqual({ retryDelay: { seconds: 1, nanos: 250_500_000 } });
  });

  it('names the quota that was hit', () => {
    const { details } = read(
      errorOf({
        type: 'RATE_LIMIT',
        origin: 'gateway',
        reason: 'RATE_LIMIT',
        details: { rule: 'per tenant' },
      }),
    );
    expect(details['QuotaFailure']).toEqual({
      violations: [{ subject: 'per tenant', description: 'Wrong.' }],
    });
  });

  it('names the tool that was not found', () => {
    const { details } = read(errorOf({ type: 'NOT_FOUND', reason: 'TOOL_NOT_FOUND' }));
    expect(details['ResourceInfo']).toMatchObject({ resourceType: 'tool', resourceName: 'greet' });
  });

  it('has the details as REST has them, the violations as BadRequest', () => {
    const own = { approval_id: 'a-1', limit: 2, used: null, tools: ['x', { deep: true }] };
    expect(read(errorOf({ type: 'NOT_FOUND', details: own })).details['Struct']).toEqual(own);
    const violations = [{ pointer: '/a', message: 'must be a number' }];
    const wrong = read(errorOf({ details: { violations, field: 'x' } })).details;
    expect([wrong['Struct'], wrong['BadRequest']]).toEqual([
      { field: 'x' },
      { fieldViolations: [{ field: '/a', description: 'must be a number' }] },
    ]);
    expect(read(errorOf({ details: {} })).details).not.toHaveProperty('Struct');
  });

  it('leaves out a detail that does not fit in, or is too deep, and has the others', () => {
    let deep: JsonValue = 1;
    for (let level = 0; level < 100; level += 1) deep = [deep];
    const details = { first: 1, large: 'x'.repeat(10_000), deep, last: 'l' };
    expect(read(errorOf({ details })).details['Struct']).toEqual({ first: 1, last: 'l' });
  });

  it('keeps the trailers below 8 kB, whatever the caller put into the message', () => {
    const hostile = '\ud800漢'.repeat(5000);
    const violations = Array.from({ length: 500 }, () => ({ pointer: hostile, message: hostile }));
    const { bytes, text } = read(
      errorOf({
        message: hostile,
        reason: hostile,
        details: { violations, note: 'n'.repeat(1_900), more: hostile },
      }),
    );
    const trailers = bytes.toString('base64').length + encodeURI(text).length;
    expect(trailers).toBeLessThan(8192);
  });
});
