// The order of test files: those that take longest begin first, so that at the end no one file runs while nothing else is left.
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Small files that start many processes or wait for leases. On a checkout that has no times yet the others go by their size. */
const LONGEST = [
  'test/integration/walks.test.ts',
  'test/e2e/process.test.ts',
  'test/integration/examples-readmes.test.ts',
  'test/faults/crash.test.ts',
  'test/integration/async-crashes.test.ts',
  'test/acceptance/event-loop.test.ts',
  'test/integration/mcp-packages.test.ts',
  'test/faults/postgres.test.ts',
  'test/faults/redis.test.ts',
  'test/e2e/rolling-update.test.ts',
  'test/faults/embedded-database.test.ts',
  'test/faults/schedules.test.ts',
  'test/integration/replicas.test.ts',
  'test/e2e/approval-kill.test.ts',
  'test/integration/audit-sinks.test.ts',
  'test/e2e/roles.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.indexOf(relative(this.ctx.config.root, moduleId));
      return place === -1 ? LONGEST.length : place;
    };
    // A process that files share ends where the next file is of another project: each project's files stay together.
    return (await super.sort(files)).toSorted((a, b) =>
      a.project.name === b.project.name ? placeOf(a) - placeOf(b) : a.project.name < b.project.name ? -1 : 1,
    );
  }
}
