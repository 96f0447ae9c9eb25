// Calls of the gRPC door that arrive in one write, as no client of a library sends them: HTTP/2 by hand.
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { resolve } from 'node:path';
import protobuf from 'protobufjs';

const DATA = 0x0, HEADERS = 0x1, SETTINGS = 0x4, WINDOW_UPDATE = 0x8; // oxfmt-ignore
const END_STREAM = 0x1, END_HEADERS = 0x4, ACK = 0x1; // oxfmt-ignore
const FRAME_HEAD = 9;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const PROTO_DIR = resolve(import.meta.dirname, '../../proto');
const FILE = 'unified_tool_executor/v1/tool_executor_service.proto';
const INITIAL_WINDOW = 0x4;
/** Literal names and values, not compressed. */
const headOf = (method: string) =>
  Buffer.concat(
    Object.entries({
      ':method': 'POST',
      ':scheme': 'http',
      ':path': `/unified_tool_executor.v1.ToolExecutorService/${method}`,
      ':authority': 'localhost',
      'content-type': 'application/grpc',
      te: 'trailers',
    }).map(([name, value]) =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name),
        Buffer.from([value.length]),
        Buffer.from(value),
      ]),
    ),
  );

/** A message of Execute, and of ExecuteStream: an object of these members as argument "v", in a Struct. */
export function executeMessage(tool: string, members: Readonly<Record<string, number>>): Buffer {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => resolve(PROTO_DIR, target);
  const type = root.loadSync([FILE]).lookupType('unified_tool_executor.v1.ExecuteRequest');
  const fields = Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, { numberValue: value }]),
  );
  const args = { fields: { v: { structValue: { fields } } } };
  const bytes = type.encode({ tool, arguments: args }).finish();
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Each as a stream of its own, all of them in one write. Gives how many were answered. */
export async function callsInOneWrite(
  address: string,
  method: 'Execute' | 'ExecuteStream',
  message: Buffer,
  count: number,
): Promise<number> {
  const { hostname, port } = new URL(`http://${address}`);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    const window = Buffer.from([0, INITIAL_WINDOW, 0x7f, 0xff, 0xff, 0xff]);
    const wide = Buffer.from([0x7f, 0, 0, 0]);
    const greeting = [PREFACE, frame(SETTINGS, 0, 0, window), frame(WINDOW_UPDATE, 0, 0, wide)];
    socket.write(Buffer.concat(greeting));
    const answers = answersOf(socket, count);
    await once(socket, 'data');
    const streams = Array.from({ length: count }, (_, at) => 2 * at + 1);
    const head = headOf(method);
    const calls = streams.flatMap((id) => [
      frame(HEADERS, END_HEADERS, id, head),
      frame(DATA, END_STREAM, id, message),
    ]);
    socket.write(Buffer.concat([frame(SETTINGS, ACK, 0), ...calls]));
    return await answers;
  } finally {
    socket.destroy();
  }
}

/** Resolves once as many streams have ended, or the other side has closed. */
function answersOf(socket: Socket, count: number): Promise<number> {
  return new Promise((done) => {
    let bytes: Buffer = Buffer.alloc(0);
    let answered = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let next = frameIn(bytes); next !== undefined; next = frameIn(bytes)) {
        bytes = bytes.subarray(next.length);
        if (next.type === HEADERS && (next.flags & END_STREAM) !== 0) answered += 1;
      }
      if (answered === count) done(answered);
    });
    socket.on('close', () => done(answered));
    socket.on('error', () => {});
  });
}

function frameIn(
  bytes: Buffer,
): { readonly type: number; readonly flags: number; readonly length: number } | undefined {
  if (bytes.length < FRAME_HEAD) return undefined;
  const length = FRAME_HEAD + bytes.readUIntBE(0, 3);
  return bytes.length < length ? undefined : { type: bytes[3] ?? 0, flags: bytes[4] ?? 0, length };
}

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
