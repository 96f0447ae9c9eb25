// A file among the arguments: base64, or the URL it is fetched from. Both come from a language model.
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import { base64Bytes, isFileName, isMediaType } from '../../../lib/files/base64-file.ts';
import { refuse, type Violation } from './argument-text.ts';

export interface FileArgument {
  readonly argument: string;
  readonly source: Buffer | URL;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

const EXPECTED = 'must be base64, or an object with base64 or url';

/** `withUrls`: whether the tool fetches files. Undefined where it cannot be one: what is wrong is noted. */
export function fileArgument(
  value: JsonValue,
  argument: string,
  withUrls: boolean,
  violations: Violation[],
): FileArgument | undefined {
  const wrong = (message: string): undefined => void refuse(violations, argument, message);
  if (typeof value === 'string') {
    const source = base64Bytes(value);
    return source === undefined
      ? wrong(EXPECTED)
      : { argument, source, filename: undefined, contentType: undefined };
  }
  if (!isJsonObject(value)) return wrong(EXPECTED);
  const { base64, url, filename, content_type: type } = value;
  if ((typeof base64 === 'string') === (typeof url === 'string')) return wrong(`${EXPECTED}, one of the two`);
  if (filename !== undefined && filename !== null && !isFileName(filename))
    return wrong('needs a filename of at most 255 characters, without "/", "\\" and line breaks');
  if (type !== undefined && type !== null && !isMediaType(type))
    return wrong('needs a content_type such as "image/png"');
  const rest = {
    argument,
    filename: typeof filename === 'string' ? filename : undefined,
    contentType: typeof type === 'string' ? type : undefined,
  };
  if (typeof base64 === 'string') {
    const source = base64Bytes(base64);
    return source === undefined ? wrong('needs base64 that can be read') : { ...rest, source };
  }
  if (!withUrls) return wrong('must be base64: this tool fetches no files');
  const source = typeof url === 'string' ? URL.parse(url) : null;
  if (
    source === null ||
    !/^https?:$/.test(source.protocol) ||
    source.username !== '' ||
    source.password !== ''
  )
    return wrong('needs an http or https URL without user and password');
  return { ...rest, source };
}
