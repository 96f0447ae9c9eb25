// The in-memory twins of the ports, held to the suites that every twin passes.
import { MemoryAdmissionControl } from '../../../src/infra/admission/memory/memory-admission-control.ts';
import { MemoryResultCache } from '../../../src/infra/cache/memory-result-cache.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { MemoryApprovals } from '../../helpers/memory-approvals.ts';
import { describeAdmissionControl } from './admission-control.suite.ts';
import { describeApprovalStore } from './approval-store.suite.ts';
import { describeResultCache } from './result-cache.suite.ts';

describeAdmissionControl('memory', async () => {
  const clock = new FakeClock();
  return { control: new MemoryAdmissionControl(clock), pass: (ms) => clock.advance(ms) };
});

describeApprovalStore('memory', async () => {
  const clock = new FakeClock();
  return { store: new MemoryApprovals(clock), now: () => clock.now(), pass: (ms) => clock.advance(ms) };
});

describeResultCache('memory', async (bounds) => {
  const clock = new FakeClock();
  return { cache: new MemoryResultCache(clock, bounds), pass: (ms) => clock.advance(ms) };
});
