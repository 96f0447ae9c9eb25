// The loader's own secrets: references resolved each time, so that a renewed token needs no restart.
import { resolveReferences } from '../../lib/secrets/references.ts';
import type { HttpLoaderOptions, SignatureOptions, SourceAuth } from './options.ts';

export interface SourceSecrets {
  readonly auth?: SourceAuth;
  readonly signature?: SignatureOptions;
  /** What references brought in. */
  readonly known: readonly string[];
}

const HEADER_VALUE = /^[\x20-\x7e]+$/;

/** Throws Error with a sentence that shows no secret. */
export async function sourceSecrets(
  { auth, signature }: HttpLoaderOptions,
  configDir: string,
): Promise<SourceSecrets> {
  const written = { ...(auth && { auth }), ...(signature && { signature }) };
  const { value, faults, secrets } = await resolveReferences(written, {
    env: process.env,
    baseDir: configDir,
  });
  const [fault] = faults;
  if (fault !== undefined) throw new Error(`${fault.path.join('.')}: ${fault.message}`);
  return { ...(value as unknown as Omit<SourceSecrets, 'known'>), known: secrets };
}

/** What the credential adds to a request. Throws Error with a sentence that shows no secret. */
export function credentialOf(auth: SourceAuth | undefined): {
  readonly headers: { readonly [name: string]: string };
  readonly query?: string;
} {
  if (auth === undefined) return { headers: {} };
  if (auth.type === 'bearer')
    return { headers: { authorization: `Bearer ${headerValue(auth.token, 'auth.token')}` } };
  if (auth.type === 'basic') {
    const pair = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
    return { headers: { authorization: `Basic ${pair}` } };
  }
  return auth.in === 'header'
    ? { headers: { [auth.name.toLowerCase()]: headerValue(auth.value, 'auth.value') } }
    : { headers: {}, query: new URLSearchParams({ [auth.name]: auth.value }).toString() };
}

function headerValue(value: string, path: string): string {
  if (HEADER_VALUE.test(value)) return value;
  throw new Error(`${path}: expected printable ASCII on one line`);
}
