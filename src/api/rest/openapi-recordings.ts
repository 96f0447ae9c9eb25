// Recordings and replay as OpenAPI says them.
import type { JsonObject } from '../../contract/json.ts';
import { RECORDING_BOUNDS, RECORDING_ENDS, RECORDING_NAME } from '../../ports/recordings.ts';
import {
  answer,
  body,
  listOf,
  managed,
  orNull,
  parameterRef,
  record,
  schemaRef,
  text,
} from './openapi-parts.ts';

const { calls, bytes } = RECORDING_BOUNDS;
const count: JsonObject = { type: 'integer', minimum: 0 };
const bounded = ({ least, most, usual }: { least: number; most: number; usual: number }): JsonObject => ({
  type: 'integer',
  minimum: least,
  maximum: most,
  default: usual,
});
const globs: JsonObject = { ...listOf({ type: 'string' }), minItems: 1, maxItems: RECORDING_BOUNDS.tools };

export const RECORDING_SCHEMAS: JsonObject = {
  RecordingRequest: record(
    {
      name: { type: 'string', pattern: RECORDING_NAME.source },
      tenant_id: text("Left out: the credential's own."),
      session_id: text('Left out: of every session.'),
      tools: { ...globs, description: 'Globs over the names of tools. Left out: all.' },
      max_calls: bounded(calls),
      max_bytes: bounded(bytes),
      ttl: text('How long it goes on at most.', { default: '1h' }),
    },
    ['tenant_id', 'session_id', 'tools', 'max_calls', 'max_bytes', 'ttl'],
  ),
  Recording: record({
    name: { type: 'string' },
    status: { enum: [...RECORDING_ENDS], description: 'Why it holds nothing more, or `running`.' },
    tenant_id: orNull({ type: 'string' }),
    session_id: orNull({ type: 'string' }),
    tools: orNull(globs),
    started_at: { type: 'string', format: 'date-time' },
    calls: count,
    missed: { ...count, description: 'Calls that were wanted and are not in it.' },
    bytes: count,
  }),
  RecordingList: record({ recordings: listOf(schemaRef('Recording')) }),
  DeletedRecording: record({ name: { type: 'string' }, deleted: { const: true } }),
  ReplayReport: record({
    file: { type: 'string' },
    recorded: { ...count, description: 'Calls in the recording.' },
    asked: { ...count, description: 'Calls that came.' },
    answered: count,
    missed: count,
    not_asked_count: count,
    not_asked: {
      ...listOf(record({ order: count, tool: { type: 'string' }, arguments_hash: { type: 'string' } })),
      description: 'Recorded, and never asked for.',
    },
    not_recorded_count: count,
    not_recorded: {
      ...listOf(
        record({
          tool: { type: 'string' },
          arguments: text('JSON, shortened, sensitive values sealed.'),
          arguments_hash: { type: 'string' },
          times: count,
        }),
      ),
      description: 'Asked for, and not recorded.',
    },
    definitions_changed: {
      ...listOf({ type: 'string' }),
      description: 'Tools that were asked for and are defined otherwise than when they were recorded.',
    },
  }),
};

export const RECORDING_PARAMETERS: JsonObject = {
  RecordingName: { name: 'name', in: 'path', required: true, schema: { type: 'string', maxLength: 64 } },
};

const tags = ['admin'];
const parameters = [parameterRef('RecordingName')];

export const recordingPaths: JsonObject = {
  '/v1/admin/recordings': {
    get: managed(
      { operationId: 'listRecordings', tags, summary: 'The recordings of this replica, the newest first' },
      answer('The recordings.', schemaRef('RecordingList')),
    ),
    post: managed(
      {
        operationId: 'startRecording',
        tags,
        summary: 'Record the calls that this replica answers',
        requestBody: body(schemaRef('RecordingRequest'), { name: 'booking', session_id: 's-1' }),
      },
      answer('The recording.', schemaRef('Recording')),
      ['BadRequest', 'Conflict'],
    ),
  },
  '/v1/admin/recordings/{name}': {
    get: managed(
      { operationId: 'downloadRecording', tags, summary: 'A recording as JSON lines', parameters },
      {
        description: 'A head, a line per call, an end.',
        content: { 'application/jsonl': { schema: { type: 'string' } } },
      },
      ['NotFound'],
    ),
    delete: managed(
      { operationId: 'deleteRecording', tags, summary: 'End a recording and delete its file', parameters },
      answer('It is gone.', schemaRef('DeletedRecording')),
      ['NotFound'],
    ),
  },
  '/v1/admin/recordings/{name}/stop': {
    post: managed(
      { operationId: 'stopRecording', tags, summary: 'End a recording and keep its file', parameters },
      answer('The recording.', schemaRef('Recording')),
      ['NotFound'],
    ),
  },
  '/v1/admin/replay': {
    get: managed(
      { operationId: 'getReplay', tags, summary: 'What a replay was asked for, and what not' },
      answer('The report so far.', schemaRef('ReplayReport')),
      ['NotFound'],
    ),
  },
  '/v1/admin/replay/rewind': {
    post: managed(
      { operationId: 'rewindReplay', tags, summary: 'Begin a replay anew' },
      answer('The report until now.', schemaRef('ReplayReport')),
      ['NotFound'],
    ),
  },
};
