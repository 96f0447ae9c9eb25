// FakePython: a ProcessSpawner whose processes are objects that speak the worker's protocol, as well or badly as told.
import { PassThrough } from 'node:stream';
import type { JsonObject } from '../../src/contract/json.ts';
import { encodeFrame, FrameDecoder } from '../../src/lib/bytes/frames.ts';
import type { ChildProcess, ProcessExit, ProcessSpawner } from '../../src/ports/egress/process-spawner.ts';

export type StartBehaviour = 'obeys' | 'dies at start' | 'hangs at start';

interface Request {
  readonly op: string;
  readonly id: string;
}

const GREETING = { python: '3.11.0', unreadable: [] };
const SIGNATURE = { is_async: false, takes_context: false, accepts_any: true, parameters: [], required: [] };

export class FakePython implements ProcessSpawner {
  readonly workers: FakeWorker[] = [];
  behaviour: StartBehaviour = 'obeys';

  get spawned(): number {
    return this.workers.length;
  }

  get alive(): FakeWorker[] {
    return this.workers.filter((worker) => !worker.killed && !worker.ended);
  }

  spawn(): Promise<ChildProcess> {
    const worker = new FakeWorker(this.workers.length + 1, this.behaviour);
    this.workers.push(worker);
    return Promise.resolve(worker);
  }
}

/** Answers `hello` and `check` by itself; calls stay open until the test answers them. */
export class FakeWorker implements ChildProcess {
  readonly pid: number;
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly toChild = new PassThrough();
  readonly fromChild = new PassThrough();
  readonly exited: Promise<ProcessExit>;
  readonly operations: string[] = [];
  killed = false;
  ended = false;
  /** The gateway has closed the channel. */
  closed = false;
  #exit: (exit: ProcessExit) => void = () => undefined;
  #openCall: string | undefined;

  constructor(pid: number, behaviour: StartBehaviour) {
    this.pid = pid;
    this.exited = new Promise((resolve) => (this.#exit = resolve));
    const decoder = new FrameDecoder(1 << 20);
    this.toChild.on('data', (chunk: Buffer) => {
      for (const frame of decoder.push(chunk)) {
        const [head = ''] = String(frame).split('\n');
        this.#handle(JSON.parse(head) as Request, behaviour);
      }
    });
    this.toChild.on('end', () => {
      this.closed = true;
      if (this.#openCall === undefined) this.#end({ code: 0, signal: null });
    });
  }

  kill(): void {
    if (this.ended) return;
    this.killed = true;
    this.#end({ code: null, signal: 'SIGKILL' });
  }

  die(): void {
    this.#end({ code: 1, signal: null });
  }

  /** Settles the open call. */
  answer(outcome: JsonObject): void {
    this.sendBytes(this.#frame(outcome));
    this.#openCall = undefined;
  }

  answerTwice(outcome: JsonObject): void {
    this.sendBytes(Buffer.concat([this.#frame(outcome), this.#frame(outcome)]));
  }

  /** A frame of the kind, under the id. */
  send(id: string, content: string, kind = 'a'): void {
    this.sendBytes(encodeFrame(id + kind + content));
  }

  /** A frame of the kind, under the id of the open call. */
  sendOfCall(content: string | Buffer, kind = 'a'): void {
    const frame = Buffer.concat([Buffer.from((this.#openCall ?? '') + kind), Buffer.from(content)]);
    const header = Buffer.alloc(4);
    header.writeUInt32BE(frame.length);
    this.sendBytes(Buffer.concat([header, frame]));
  }

  sendBytes(bytes: Buffer): void {
    this.fromChild.write(bytes);
  }

  #frame(outcome: JsonObject): Buffer {
    if (this.#openCall === undefined) throw new Error('no call is open');
    return encodeFrame(`${this.#openCall}a${JSON.stringify(outcome)}`);
  }

  #handle({ op, id }: Request, behaviour: StartBehaviour): void {
    this.operations.push(op);
    if (behaviour === 'hangs at start') return;
    if (behaviour === 'dies at start') this.die();
    else if (op === 'call') this.#openCall = id;
    else if (op !== 'cancel') {
      const data = op === 'hello' ? GREETING : { signature: SIGNATURE, files: [] };
      this.send(id, JSON.stringify({ ok: true, data }));
    }
  }

  #end(exit: ProcessExit): void {
    this.ended = true;
    this.stdout.end();
    this.stderr.end();
    this.#exit(exit);
  }
}
