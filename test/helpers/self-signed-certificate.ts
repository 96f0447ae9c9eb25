// A self-signed certificate for localhost, made on the spot: no key lies in the repository.
import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** ECDSA P-256, valid for a day around now, for `localhost` and 127.0.0.1. */
export function selfSignedCertificate(commonName = 'localhost'): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const name = sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(commonName)))));
  const day = 86_400_000;
  const validity = sequence(time(Date.now() - day), time(Date.now() + day));
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const alternativeNames = sequence(oid(0x55, 0x1d, 0x11), der(0x04, names));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeNames)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]);
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, signature));
  const base64 = certificate.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    cert: Buffer.from(`-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`),
    key: Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

/** One DER element: tag, length, content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function oid(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(digits.slice(2)));
}
