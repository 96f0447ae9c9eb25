// Of what kind a file is, by what it begins with: providers refuse the whole request over one that is not what it says.

export interface FilePart {
  readonly kind: 'file';
  /** Media type. */
  readonly type: string;
  readonly base64: string;
  readonly bytes: number;
  /** Letters, digits and what every provider takes beside them; never empty. */
  readonly name: string;
}

export const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export const PDF = 'application/pdf';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const WEBP = Buffer.from('WEBP');
/** In base64, up to where every byte is known. */
const BEGINNINGS: readonly (readonly [beginning: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi0', PDF],
];

/** Undefined: it is no base64, or of no kind that any provider takes. */
export function fileOf(base64: string, name = 'file'): FilePart | undefined {
  const type = typeOf(base64);
  if (type === undefined || base64.length % 4 !== 0 || !BASE64.test(base64)) return undefined;
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  const bytes = (base64.length / 4) * 3 - padding;
  return { kind: 'file', type, base64, bytes, name: plainName(name) };
}

function typeOf(base64: string): string | undefined {
  if (base64.startsWith('UklGR') && Buffer.from(base64.slice(0, 16), 'base64').subarray(8).equals(WEBP))
    return 'image/webp';
  return BEGINNINGS.find(([beginning]) => base64.startsWith(beginning))?.[1];
}

function plainName(name: string): string {
  return (
    name
      .replaceAll(/[^A-Za-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 64) || 'file'
  );
}
