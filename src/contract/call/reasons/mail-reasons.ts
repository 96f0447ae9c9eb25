// The reasons about mail. What a server itself says is its code, as in SMTP_550.
import { row, type ReasonRow } from './reason-row.ts';

// oxfmt-ignore
export const MAIL_REASONS = {
  DELIVERY_UNKNOWN: row('UNAVAILABLE', 'after the message was handed over the connection was lost, or the answer said two things: whether it was taken is not known, and it is not sent again by itself'),
  RECIPIENT_NOT_ALLOWED: row('PERMISSION_DENIED', 'the operator does not let this tool write to a recipient: details.recipients'),
  SMTP_PROTOCOL: row('OUTPUT_INVALID', 'the mail server answered with something that is not SMTP'),
  SMTP_TLS_MISSING: row('UNAVAILABLE', 'the mail server offers no STARTTLS, and the connection asks for it', { ranNothing: true }),
} satisfies Readonly<Record<string, ReasonRow>>;
