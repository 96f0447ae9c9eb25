// What the tools of the conformance suite answer.
import { setTimeout as pause } from 'node:timers/promises';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (words) => ({ type: 'text', text: words });

export const simpleText = () => 'This is a simple text response for testing.';
export const image = () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] });
export const audio = () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] });
export const resource = () => ({
  content: [
    {
      type: 'resource',
      resource: {
        uri: 'test://embedded-resource',
        mimeType: 'text/plain',
        text: 'This is an embedded resource content.',
      },
    },
  ],
});
export const mixed = () => ({
  content: [
    text('Multiple content types test:'),
    { type: 'image', data: PNG, mimeType: 'image/png' },
    {
      type: 'resource',
      resource: {
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: '{"test":"data","value":123}',
      },
    },
  ],
});

export function fails() {
  return {
    ok: false,
    error: { type: 'PERMANENT', message: 'This tool intentionally returns an error for testing' },
  };
}

export async function progress(_args, context) {
  for (const fraction of [0, 0.5, 1]) {
    context.progress(fraction);
    await pause(50);
  }
  return 'done';
}

export async function logging(_args, { logger }) {
  logger.info('Tool execution started');
  await pause(50);
  logger.info('Tool processing data');
  await pause(50);
  logger.info('Tool execution completed');
  return 'done';
}

export const greet = ({ name }) => `Hello, ${name}!`;

/** Ends at once where its caller has. */
export async function slowCompute({ seconds }, { signal }) {
  await pause(seconds * 1_000, undefined, { signal });
  return `computed for ${seconds} s`;
}

export async function failingJob() {
  await pause(1_000);
  return fails();
}

export function protocolErrorJob() {
  return { ok: false, error: { type: 'INTERNAL', message: 'This tool intentionally breaks for testing' } };
}
