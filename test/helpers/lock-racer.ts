// A thread that locks one path after another, each at the same moment as the other thread does; counts who got it.
import { workerData } from 'node:worker_threads';
import { DataDirInUse, lockDataDir } from '../../src/infra/data-dir/data-dir-lock.ts';

const { paths, arrived, taken } = workerData as {
  readonly paths: readonly string[];
  readonly arrived: Int32Array;
  readonly taken: Int32Array;
};

for (const [index, path] of paths.entries()) {
  Atomics.add(arrived, index, 1);
  while (Atomics.load(arrived, index) < 2);
  try {
    lockDataDir(path);
    Atomics.add(taken, index, 1);
  } catch (error) {
    if (!(error instanceof DataDirInUse)) throw error;
  }
}
