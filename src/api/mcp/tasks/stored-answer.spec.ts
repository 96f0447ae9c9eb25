// What was kept of an answer is read back as it was, byte for byte, whatever tools answer with.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readStoredAnswer } from './stored-answer.ts';

const envelopeOf = (dataJson: string, intents: unknown, meta: unknown) =>
  `{"ok":true,"data":${dataJson},"intents":${JSON.stringify(intents)},"meta":${JSON.stringify(meta)}}`;

/** Of texts that look like the parts of an envelope, too. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('","meta":{', ',"intents":[],"meta":{}}', '\\', '\\"', '\\\\"', '}]', '[{"'),
);
const value = fc.jsonValue({ stringUnit: 'binary' });
const dictionary = fc.dictionary(
  fc.oneof(hostile, fc.constantFrom('meta', 'intents', 'data', 'ok')),
  fc.oneof(hostile, value),
);

it('data, intents and meta are those that were kept, whatever is in them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(value, hostile, dictionary),
      fc.array(dictionary),
      dictionary,
      async (data, intents, meta) => {
        const dataJson = JSON.stringify(data);
        const read = await readStoredAnswer(envelopeOf(dataJson, intents, meta));
        const plain = (made: unknown) => JSON.parse(JSON.stringify(made)) as unknown;
        expect(read).toEqual({ ok: true, dataJson, intents: plain(intents), meta: plain(meta) });
      },
    ),
  );
});

it('integers that no double holds keep their digits', async () => {
  const read = await readStoredAnswer(envelopeOf('{"id":9007199254740993}', [], { tool: 'x' }));
  expect(read).toMatchObject({ dataJson: '{"id":9007199254740993}' });
});

it('an envelope that is written in another order is read all the same', async () => {
  const text = '{"meta":{"tool":"x"},"intents":[],"data":[1],"ok":true}';
  expect(await readStoredAnswer(text)).toEqual({
    ok: true,
    dataJson: '[1]',
    intents: [],
    meta: { tool: 'x' },
  });
});

it('a refusal is read, and what is no envelope is none', async () => {
  expect(await readStoredAnswer('{"ok":false,"error":{"type":"TIMEOUT"},"meta":{}}')).toMatchObject({
    ok: false,
    error: { type: 'TIMEOUT' },
  });
  for (const text of ['null', '{}', '{"ok":true,"data":1}'])
    await expect(readStoredAnswer(text)).rejects.toThrow('is no envelope');
  await expect(readStoredAnswer('{"ok":true,"data":1')).rejects.toThrow('JSON');
});
