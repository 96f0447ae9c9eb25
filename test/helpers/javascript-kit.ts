// What the javascript executor needs, real but for nested calls, for tests that run it without a gateway.
import { NodeProcessSpawner } from '../../src/infra/process/node-process-spawner.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import {
  javascriptSettingsSchema,
  type JavascriptSettings,
} from '../../src/executors/javascript/settings.ts';
import type { NestedCalls } from '../../src/ports/nested-calls.ts';
import { recordingLog, recordingMetrics } from './call-kit.ts';

export function javascriptNeeds(
  settings: Partial<JavascriptSettings> = {},
  run: NestedCalls['run'] = () => Promise.reject(new Error('no tool is called here')),
) {
  return {
    log: recordingLog(),
    metrics: recordingMetrics(),
    clock: new SystemClock(),
    nestedCalls: { run },
    spawner: new NodeProcessSpawner(),
    settings: { ...javascriptSettingsSchema().parse({}), ...settings },
  };
}
