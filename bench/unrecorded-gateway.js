// A gateway that records nothing: the baseline of what records cost. No setting does this, so it is done to the class here.
import { StoredAuditSink } from '../dist/infra/audit/stored-audit-sink.js';

Object.assign(StoredAuditSink.prototype, {
  ready: () => undefined,
  offer: () => undefined,
  write: () => Promise.resolve(),
  writeMade: () => Promise.resolve(),
  intend: () => Promise.resolve(),
});
await import('../dist/app/process/run-process.js');
