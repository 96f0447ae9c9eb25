// The site of this example, and the gateway beside it.
//
//   node examples/web/start.mjs
import { spawn } from 'node:child_process';
import { requireNode } from '../node-version.mjs';

requireNode();
const { startSite } = await import('./site.js');
const TOKEN = 'token-of-the-lamp';
const { url } = await startSite(Number(process.env.SITE_PORT ?? 8098), TOKEN);
console.log(`the site is at ${url}`);

const gateway = spawn('npm', ['start'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    UTE_CONFIG: process.env.UTE_CONFIG ?? 'examples/web/gateway.yaml',
    SEARXNG_URL: `${url}/searxng`,
    LAMP_TOKEN: TOKEN,
  },
});
// Ctrl-C reaches both; whoever ends this one alone ends the gateway too.
process.once('SIGINT', () => undefined).once('SIGTERM', () => gateway.kill());
gateway.once('exit', (code) => process.exit(code ?? 0));
