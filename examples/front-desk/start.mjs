// A mail server and a calendar on this machine, which speak SMTP and Calendar v3 as the real ones do, and the gateway beside them.
//
//   node examples/front-desk/start.mjs
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { requireNode } from '../node-version.mjs';

requireNode();
const { GoogleCalendar } = await import('../../test/helpers/google-calendar.ts');
const { startMailServer } = await import('../../test/helpers/mail-server.ts');

const agent = JSON.parse(readFileSync(new URL('front-desk.json', import.meta.url), 'utf8'));
const { config, sensitive_config: secrets } = agent.email;

const mail = await startMailServer({}, Number(process.env.FRONT_DESK_MAIL_PORT ?? config.smtp_port));
console.log(`mail server at 127.0.0.1:${mail.port}`);
mail.accounts.set(config.from_email, secrets.api_key);
mail.beforeAnswer = async ({ from, to, raw }) =>
  console.log(`mail from ${from} to ${to.join(', ')}:\n${raw.toString()}`);

const calendar = await new GoogleCalendar().start();
calendar.tokens.add(agent.google_calendar_api.sensitive_config.access_token);
calendar.events.set(agent.google_calendar.config.calendar_id, [
  {
    id: 'standup',
    summary: 'Stand-up',
    status: 'confirmed',
    start: { dateTime: '2026-12-01T09:00:00Z' },
    end: { dateTime: '2026-12-01T09:15:00Z' },
  },
]);

const gateway = spawn('npm', ['start'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    UTE_CONFIG: 'examples/front-desk/gateway.yaml',
    FRONT_DESK_MAIL_CA: mail.ca,
    FRONT_DESK_CALENDAR_URL: calendar.url,
  },
});
// Ctrl-C reaches both; whoever ends this one alone ends the gateway too.
process.once('SIGINT', () => undefined).once('SIGTERM', () => gateway.kill());
gateway.once('exit', (code) => process.exit(code ?? 0));
