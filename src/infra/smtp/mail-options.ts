// A message as nodemailer takes it. Of its many fields only those are set that cannot name a file or a URL.
import type { SendMailOptions } from 'nodemailer';
import type { MailMessage } from '../../ports/egress/smtp-servers.ts';

export function mailOptions(message: MailMessage): SendMailOptions {
  const { from, to, cc, bcc, replyTo, subject, text, html, attachments, messageId } = message;
  return {
    messageId,
    // Said here, so that nothing is read out of the headers again. Blind copies stand nowhere else.
    envelope: { from: from.address, to: [...new Set([...to, ...cc, ...bcc])] },
    from,
    to: to.map(bare),
    ...(cc.length > 0 && { cc: cc.map(bare) }),
    ...(replyTo.length > 0 && { replyTo: replyTo.map(bare) }),
    subject,
    // Never as it is: no line of it is one that a server could read as an end, or as a command.
    text: encoded(text),
    ...(html !== undefined && { html: encoded(html) }),
    attachments: attachments.map(({ filename, contentType, content }) => ({
      filename,
      contentType,
      content,
      contentDisposition: 'attachment',
      contentTransferEncoding: 'base64',
    })),
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function bare(address: string) {
  return { address, name: '' };
}

/** What is longer is written in base64, which takes the library a tenth of the time. */
const MOST_QUOTED = 16_384;

/** Bytes, also where there are none: the library takes an empty text for the object that it stands in, and throws. */
function encoded(text: string) {
  return {
    content: Buffer.from(text.replaceAll(/\r\n|[\r\n\u2028\u2029]/g, '\r\n')),
    contentTransferEncoding: text.length > MOST_QUOTED ? 'base64' : 'quoted-printable',
  };
}
