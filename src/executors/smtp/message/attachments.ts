// Attachments among the arguments: {filename, base64, content_type}, so many and so large as the operator lets them be.
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import { base64Bytes, isFileName, isMediaType } from '../../../lib/files/base64-file.ts';
import { soleName } from '../../../lib/text/template.ts';
import type { MailAttachment } from '../../../ports/egress/smtp-servers.ts';
import type { CallValues } from './call-values.ts';
import { mailTemplate } from '../options-schema.ts';

const MOST_FILES = 20;
const ANY_TYPE = 'application/octet-stream';
/** What is a line end, or turns the direction of a name: `invoice\u202Efdp.exe` is shown as `invoiceexe.pdf`. */
const NOT_IN_NAME = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** A message within a message would be read as one: its headers are those of an argument. */
const NOT_A_FILE = /^(?:multipart|message)\//i;

export function fillAttachments(
  said: string | undefined,
  maxBytes: number,
): (values: CallValues) => readonly MailAttachment[] {
  const name = said === undefined ? undefined : soleName(mailTemplate(said));
  if (name === undefined) return () => [];
  return (values) => {
    const value = values.of(name);
    if (value === undefined) return [];
    const files: readonly JsonValue[] = Array.isArray(value) ? value : [value];
    if (files.length > MOST_FILES) {
      values.refuse(name, `must be at most ${MOST_FILES} files`);
      return [];
    }
    let left = maxBytes;
    return files.flatMap((file, index) => {
      const read = readFile(file, (message) => values.refuse(name, message, index));
      left -= read?.content.length ?? 0;
      if (left < 0) throw tooLarge(maxBytes);
      return read === undefined ? [] : [read];
    });
  };
}

function readFile(value: JsonValue, wrong: (message: string) => undefined): MailAttachment | undefined {
  if (!isJsonObject(value)) return wrong('must be an object with filename and base64');
  const { filename, base64, content_type: type } = value;
  if (!isFileName(filename) || NOT_IN_NAME.test(filename))
    return wrong(
      'needs a filename of at most 255 characters, without "/", "\\" and characters that are not seen',
    );
  const content = typeof base64 === 'string' ? base64Bytes(base64) : undefined;
  if (content === undefined) return wrong('needs base64 that can be read');
  if (type === undefined || type === null) return { filename, contentType: ANY_TYPE, content };
  if (!isMediaType(type) || NOT_A_FILE.test(type)) return wrong('needs a content_type such as "image/png"');
  return { filename, contentType: type, content };
}

function tooLarge(maxBytes: number): ToolFailure {
  return new ToolFailure(
    'PAYLOAD_TOO_LARGE',
    `The attachments are larger than the ${maxBytes} bytes that this tool sends.`,
    { details: { max_bytes: maxBytes }, partialSideEffects: false },
  );
}
