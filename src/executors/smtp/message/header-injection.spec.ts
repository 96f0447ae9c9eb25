// Whatever a model writes into the arguments, a message has the headers that it has, the recipients that were named, and one body:
// composed by the library that sends it, and read back from the bytes.
import * as fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { expect, it } from 'vitest';
import { anyCharacter } from '../../../../test/helpers/any-character.ts';
import { callOf } from '../../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { JsonValue } from '../../../contract/json.ts';
import { mailOptions } from '../../../infra/smtp/mail-options.ts';
import { compileMessage } from './compile-message.ts';
import { smtpOptionsSchema } from '../options-schema.ts';

const options = smtpOptionsSchema.parse({
  connection: 'mail',
  from: 'desk@example.com',
  from_name: '{config.name}',
  to: '{to}',
  cc: '{cc}',
  bcc: '{bcc}',
  reply_to: '{reply_to}',
  subject: '{subject}',
  text: '{text}',
  html: '{html}',
  attachments: '{files}',
  recipients: { allow: ['*'], max: 100 },
});
const messageOf = compileMessage(options, options, undefined);
const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });

const HEADERS =
  'cc|content-transfer-encoding|content-type|date|from|message-id|mime-version|reply-to|subject|to';
const KNOWN = new RegExp(`^(?:(?:${HEADERS}):|[ \\t])`, 'i');

const RUNS = 400;

const PIECES = [
  '\r\n',
  '\n',
  '\r',
  '\u0085',
  '\u2028',
  '\r\nBcc: eve@evil.com',
  '\nX-Injected: yes',
  '\r\n\r\n<script>',
  '\r\n.\r\n',
  '=?utf-8?Q?=0D=0ABcc:_eve@evil.com?=',
  '=?utf-8?B?DQpCY2M6IGV2ZUBldmlsLmNvbQ==?=',
  '",<eve@evil.com>',
  'a@b.co',
  '; name=x',
  '--',
  'é',
  '嘊嘍',
  '\u{560a}\u{560d}',
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: anyCharacter, maxLength: 20 })), {
    maxLength: 6,
  })
  .map((pieces) => pieces.join(''));
/** What is let through more often than not: nothing in it ends a line. */
const line = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'é',
        'a',
        ' ',
        '=',
        '?',
        '_',
        '"',
        "'",
        '\\',
        ';',
        ',',
        '<',
        '>',
        '@',
        ':',
        '=?utf-8?Q?',
      ),
      anyCharacter.filter((character) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(character)),
    ),
    { maxLength: 200 },
  )
  .map((pieces) => pieces.join(''));
const said = fc.oneof(line, text);
const address = fc.oneof(
  fc.emailAddress(),
  fc.tuple(fc.emailAddress(), text).map((parts) => parts.join('')),
  text,
);
const hostile: { readonly [field: string]: fc.Arbitrary<JsonValue> } = {
  to: fc.oneof(fc.array(address, { minLength: 1, maxLength: 3 }), address),
  cc: fc.array(address, { maxLength: 3 }),
  bcc: fc.array(address, { maxLength: 3 }),
  reply_to: fc.array(address, { maxLength: 3 }),
  subject: said,
  text: fc.oneof(said, text),
  html: fc.oneof(said, text),
  files: fc.array(
    fc.record({
      filename: fc.oneof(said, fc.constant('a.txt')),
      base64: fc.constantFrom('YWJj', ''),
      content_type: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom('text/plain', 'a/b; charset=utf-8') },
        text,
      ),
    }),
    { maxLength: 2 },
  ),
};
const CALM = { to: 'ann@example.com', subject: 'Hello', text: 'How are you?' };
/** One or two places at a time, so that what is let through is looked at, too. */
const args = fc
  .subarray(Object.keys(hostile), { minLength: 1, maxLength: 2 })
  .chain((fields) => fc.record(Object.fromEntries(fields.map((field) => [field, hostile[field] ?? said]))))
  .map((changed) => ({ ...CALM, ...changed }));

it('no argument adds a header, a recipient or a part', async () => {
  let composed = 0;
  await fc.assert(
    fc.asyncProperty(args, said, async (given, name) => {
      let message;
      try {
        message = messageOf(callOf({ arguments: given, config: { name } }));
      } catch (error) {
        if (error instanceof ToolFailure) return;
        throw error;
      }
      composed += 1;
      const { envelope, message: raw } = await composer.sendMail(mailOptions(message));
      const named = [...message.to, ...message.cc, ...message.bcc];
      expect(new Set(envelope.to)).toEqual(new Set(named));
      expect(envelope.from).toBe('desk@example.com');
      const bytes = raw as Buffer;
      expect(bytes.every((byte) => byte < 0x80 && byte !== 0)).toBe(true);
      const whole = bytes.toString('latin1');
      expect(whole.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      for (const written of whole.slice(0, whole.indexOf('\r\n\r\n')).split('\r\n')) {
        expect(written).toMatch(KNOWN);
        expect(written.length).toBeLessThanOrEqual(998);
      }
      const read = await simpleParser(bytes);
      const addresses = (field: 'to' | 'cc') =>
        [read[field]]
          .flat()
          .flatMap((each) => each?.value ?? [])
          .map((each) => each.address);
      expect(addresses('to')).toEqual([...message.to]);
      expect(addresses('cc')).toEqual([...message.cc]);
      expect(read.from?.value.map((each) => each.address)).toEqual(['desk@example.com']);
      expect(read.attachments).toHaveLength(message.attachments.length);
    }),
    { numRuns: RUNS },
  );
  expect(composed).toBeGreaterThan(RUNS / 10);
});
