// A body as text, in the encoding that its mark, its server or its own head says, in that order.
import sniffEncoding from 'html-encoding-sniffer';

const LABEL = /charset\s*=\s*"?([A-Za-z0-9._:-]{1,40})"?/i;

export function decodeText(body: Uint8Array, contentType: string, isHtml: boolean): string {
  const label = LABEL.exec(contentType)?.[1];
  const said = label === undefined ? {} : { transportLayerEncodingLabel: label };
  const encoding = sniffEncoding(body, { ...said, xml: !isHtml, defaultEncoding: 'UTF-8' });
  return decoderOf(encoding).decode(body);
}

/** A label that nobody knows is no reason to give up: what is not UTF-8 shows as replacement characters. */
function decoderOf(encoding: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(encoding === 'x-user-defined' ? 'latin1' : encoding);
  } catch {
    return new TextDecoder();
  }
}
