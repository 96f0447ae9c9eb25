// Two projects: unit specs beside their source (fast, no processes), and everything under test/ (real parts).
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.spec.ts'], testTimeout: 10_000 } },
      { test: { name: 'suites', include: ['test/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 } },
    ],
  },
});
