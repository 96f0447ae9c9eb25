// Recordings and replay on the wire.
import { z } from 'zod';
import { parseDuration } from '../../../lib/text/duration.ts';
import { RECORDING_BOUNDS, RECORDING_ENDS, RECORDING_NAME } from '../../../ports/recordings.ts';
import { json, route } from '../route/route.ts';
import {
  count,
  list,
  named,
  oneOf,
  shape,
  strictBody,
  text,
  textOf,
  time,
  wholeNumber,
} from '../route/shapes.ts';

const TAG = 'admin';
const { calls, bytes, tools: mostTools, ttlMs } = RECORDING_BOUNDS;
const params = { name: shape(() => z.string().max(64)) };

const RecordingRequest = named('RecordingRequest', () =>
  strictBody('{"name": "...", "session_id": "..."}', {
    name: z
      .string('must be 1 to 64 letters, digits, _ or -, the first a letter or digit')
      .regex(RECORDING_NAME),
    tenant_id: textOf(1, 256).optional().describe("Left out: the credential's own."),
    session_id: textOf(1, 256).optional().describe('Left out: of every session.'),
    tools: z
      .array(
        textOf(1, 256),
        `must be a list of 1 to ${mostTools} names of tools, in which * stands for any characters`,
      )
      .min(1)
      .max(mostTools)
      .optional()
      .describe('Globs over the names of tools. Left out: all.'),
    max_calls: wholeNumber(calls.least, calls.most).default(calls.usual),
    max_bytes: wholeNumber(bytes.least, bytes.most).default(bytes.usual),
    ttl: duration(),
  }),
);

export const Recording = named('Recording', () =>
  z.object({
    name: text(),
    status: oneOf(RECORDING_ENDS).describe('Why it holds nothing more, or `running`.'),
    tenant_id: text().nullable(),
    session_id: text().nullable(),
    tools: z.array(text()).min(1).max(mostTools).readonly().nullable(),
    started_at: time(),
    calls: count(),
    missed: count('Calls that were wanted and are not in it.'),
    bytes: count(),
  }),
);

const RecordingList = named('RecordingList', () => z.object({ recordings: list(Recording()) }));
const DeletedRecording = named('DeletedRecording', () =>
  z.object({ name: text(), deleted: z.literal(true) }),
);

export const ReplayReport = named('ReplayReport', () =>
  z.object({
    file: text(),
    recorded: count('Calls in the recording.'),
    asked: count('Calls that came.'),
    answered: count(),
    missed: count(),
    not_asked_count: count(),
    not_asked: list(z.object({ order: count(), tool: text(), arguments_hash: text() })).describe(
      'Recorded, and never asked for.',
    ),
    not_recorded_count: count(),
    not_recorded: list(
      z.object({
        tool: text(),
        arguments: text('JSON, shortened, sensitive values sealed.'),
        arguments_hash: text(),
        times: count(),
      }),
    ).describe('Asked for, and not recorded.'),
    definitions_changed: list(text()).describe(
      'Tools that were asked for and are defined otherwise than when they were recorded.',
    ),
  }),
);

export const listRecordings = route({
  operationId: 'listRecordings',
  method: 'get',
  path: '/v1/admin/recordings',
  tag: TAG,
  summary: 'The recordings of this replica, the newest first',
  answers: { 200: json('The recordings.', RecordingList) },
  problems: [],
});

export const startRecording = route({
  operationId: 'startRecording',
  method: 'post',
  path: '/v1/admin/recordings',
  tag: TAG,
  summary: 'Record the calls that this replica answers',
  body: { shape: RecordingRequest, example: { name: 'booking', session_id: 's-1' } },
  answers: { 200: json('The recording.', Recording) },
  problems: [400, 409],
});

export const downloadRecording = route({
  operationId: 'downloadRecording',
  method: 'get',
  path: '/v1/admin/recordings/{name}',
  tag: TAG,
  summary: 'A recording as JSON lines',
  params,
  answers: {
    200: {
      description: 'A head, a line per call, an end.',
      content: { 'application/jsonl': shape(() => text()) },
    },
  },
  problems: [404],
});

export const deleteRecording = route({
  operationId: 'deleteRecording',
  method: 'delete',
  path: '/v1/admin/recordings/{name}',
  tag: TAG,
  summary: 'End a recording and delete its file',
  params,
  answers: { 200: json('It is gone.', DeletedRecording) },
  problems: [404],
});

export const stopRecording = route({
  operationId: 'stopRecording',
  method: 'post',
  path: '/v1/admin/recordings/{name}/stop',
  tag: TAG,
  summary: 'End a recording and keep its file',
  params,
  answers: { 200: json('The recording.', Recording) },
  problems: [404],
});

export const getReplay = route({
  operationId: 'getReplay',
  method: 'get',
  path: '/v1/admin/replay',
  tag: TAG,
  summary: 'What a replay was asked for, and what not',
  answers: { 200: json('The report so far.', ReplayReport) },
  problems: [404],
});

export const rewindReplay = route({
  operationId: 'rewindReplay',
  method: 'post',
  path: '/v1/admin/replay/rewind',
  tag: TAG,
  summary: 'Begin a replay anew',
  answers: { 200: json('The report until now.', ReplayReport) },
  problems: [404],
});

function duration() {
  const said = z
    .string(TTL)
    .default('1h')
    .describe('How long it goes on at most.')
    .meta({ pattern: '^[0-9]{1,12}(\\.[0-9]{1,3})?(ms|s|m|h|d)$' });
  return said.transform((said, context) => {
    const ms = parseDuration(said);
    if (ms !== undefined && ms >= ttlMs.least && ms <= ttlMs.most) return ms;
    context.addIssue(TTL);
    return z.NEVER;
  });
}
const TTL = 'must be a duration from 1s to 7d, such as "1h"';
