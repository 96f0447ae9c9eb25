// The documents of the table: large and odd APIs that many connect, and the whole directory they come from.
import { GITHUB } from './packages.ts';

export interface CorpusDocument {
  readonly name: string;
  /** Below the directory's folder, or an absolute path. */
  readonly file: string;
  readonly options?: { readonly [option: string]: string };
}

export const DOCUMENTS: readonly CorpusDocument[] = [
  { name: 'GitHub', file: GITHUB },
  { name: 'Stripe', file: 'stripe.com.json' },
  { name: 'Twilio', file: 'twilio.com/api.json' },
  { name: 'Slack', file: 'slack.com.json' },
  { name: 'Kubernetes', file: 'kubernetes.io.json' },
  { name: 'Jira', file: 'atlassian.com/jira.json' },
  { name: 'GitLab', file: 'gitlab.com.json' },
  { name: 'DigitalOcean', file: 'digitalocean.com.json' },
  {
    name: 'Microsoft Graph, `path_prefix: /me/`',
    file: 'microsoft.com/graph.json',
    options: { path_prefix: '/me/' },
  },
  { name: 'DocuSign', file: 'docusign.net.json' },
  { name: 'Amazon EC2', file: 'amazonaws.com/ec2.json' },
  { name: 'Zuora', file: 'zuora.com.json' },
];
