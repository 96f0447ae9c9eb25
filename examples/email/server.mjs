// A mail server that prints what it is given, and knows nobody whose name begins with "gone".
//
//   node examples/email/server.mjs [port]
import { SMTPServer } from 'smtp-server';

const server = new SMTPServer({
  // On this machine, for whoever comes: an example, and no mail server for anything else.
  authOptional: true,
  hideSTARTTLS: true,
  disableReverseLookup: true,
  onRcptTo({ address }, session, done) {
    const gone = address.startsWith('gone');
    done(gone ? Object.assign(new Error('5.1.1 No such user'), { responseCode: 550 }) : null);
  },
  onData(stream, session, done) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => process.stdout.write(text));
    stream.on('end', () => done(null, 'printed'));
  },
});
server.listen(Number(process.argv[2] ?? 2525), '127.0.0.1', function listening() {
  console.log(`mail on 127.0.0.1:${this.address().port}`);
});
