// The detectors that a rule may name.
import type { Detector } from './detector.ts';
import { iban } from './iban.ts';
import { patternDetector } from './pattern-detector.ts';
import { paymentCard } from './payment-card.ts';
import { phone } from './phone.ts';
import { privateKeyDetector } from './private-key.ts';

/** Of the forms that their issuers document. */
const API_KEY = [
  '(?:AKIA|ASIA)[A-Z2-7]{16}', // AWS
  'gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}', // GitHub
  'xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}', // Slack
  'AIza[A-Za-z0-9_-]{35}', // Google
  '[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{16,}', // Stripe
  'ute_live_[A-Za-z0-9_-]{16,}', // this gateway
].join('|');
const API_KEY_HINTS =
  'AKIA ASIA gho_ ghp_ ghs_ ghu_ ghr_ github_pat_ xox xapp- AIza k_live_ k_test_ whsec_ ute_live_'.split(' ');

const JWT = 'eyJ[A-Za-z0-9_-]{5,}\\.eyJ[A-Za-z0-9_-]{5,}\\.[A-Za-z0-9_-]*';
const EMAIL = '[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+';
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `\\b${OCTET}(?:\\.${OCTET}){3}\\b`;

export const BUILT_IN_NAMES = [
  'api_key',
  'private_key',
  'jwt',
  'email',
  'phone',
  'payment_card',
  'iban',
  'ipv4',
] as const;
export type BuiltInName = (typeof BUILT_IN_NAMES)[number];

/** Made when a rule first asks for them: to compile the patterns of all is a part of each start that most do without. */
const MAKERS: { readonly [name in BuiltInName]: () => Detector } = {
  api_key: () => patternDetector(API_KEY, API_KEY_HINTS),
  private_key: privateKeyDetector,
  jwt: () => patternDetector(JWT, ['eyJ']),
  email: () => patternDetector(EMAIL, ['@']),
  phone: () => phone,
  payment_card: () => paymentCard,
  iban: () => iban,
  ipv4: () => patternDetector(IPV4, ['.']),
};
const made = new Map<BuiltInName, Detector>();

export function builtIn(name: BuiltInName): Detector {
  const known = made.get(name);
  if (known !== undefined) return known;
  const detector = MAKERS[name]();
  made.set(name, detector);
  return detector;
}
