// A message as a dry run shows it: to whom and by which server it would go, what it says, and no secret.
import type { JsonObject } from '../../../contract/json.ts';
import type { MailMessage, SmtpServer } from '../../../ports/egress/smtp-servers.ts';

export function shownMessage(
  message: MailMessage,
  { host, port, security, account }: SmtpServer,
): JsonObject {
  const { messageId, from, to, cc, bcc, replyTo, subject, text, html, attachments } = message;
  return {
    server: { host, port, security, ...(account !== undefined && { user: account.user }) },
    message_id: messageId,
    from: from.address,
    ...(from.name !== '' && { from_name: from.name }),
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    reply_to: [...replyTo],
    subject,
    text,
    ...(html !== undefined && { html }),
    attachments: attachments.map(({ filename, contentType, content }) => ({
      filename,
      content_type: contentType,
      bytes: content.length,
    })),
  };
}
