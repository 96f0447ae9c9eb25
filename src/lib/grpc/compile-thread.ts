// The thread of compile-elsewhere.ts: compiles the files it was named, answers once, ends.
import { parentPort, workerData } from 'node:worker_threads';
import { compileProtos } from './compile-protos.ts';
import { writeDescriptorSet } from './descriptor-set.ts';
import type { CompileAnswer, CompileRequest } from './compile-elsewhere.ts';

const { files, importPaths } = workerData as CompileRequest;
const described = compileProtos(files, importPaths);
const answer: CompileAnswer = { set: writeDescriptorSet(described.files), comments: described.comments };
parentPort?.postMessage(answer);
