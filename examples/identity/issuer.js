// A small issuer of tokens, for trials: it signs whatever anybody asks for. GET /token?user=…&org=…&group=…, its public key at /keys.
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const ISSUER = 'http://localhost:8097';
const HEADER = { alg: 'ES256', kid: 'trial', typ: 'at+jwt' };
const { publicKey, privateKey } = await generateKeyPair('ES256');
const keys = [{ ...(await exportJWK(publicKey)), kid: HEADER.kid, alg: HEADER.alg, use: 'sig' }];

async function answer(url) {
  const { pathname, searchParams } = new URL(url, ISSUER);
  if (pathname === '/keys') return JSON.stringify({ keys });
  const claims = { org: searchParams.get('org'), groups: searchParams.getAll('group') };
  const token = new SignJWT(claims)
    .setProtectedHeader(HEADER)
    .setIssuer(ISSUER)
    .setAudience('http://localhost:8080')
    .setSubject(searchParams.get('user') ?? '')
    .setIssuedAt()
    .setExpirationTime('5m');
  return token.sign(privateKey);
}

createServer((request, response) => {
  void answer(request.url).then((text) => response.end(text));
}).listen(8097, 'localhost');
