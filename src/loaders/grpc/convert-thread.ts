// The thread of convert-elsewhere.ts: converts the services it was given, answers once, ends.
import { parentPort, workerData } from 'node:worker_threads';
import { convertServices, type ConvertRequest } from './convert-services.ts';

parentPort?.postMessage(convertServices(workerData as ConvertRequest));
