// Tells what it would send: the configuration of the agent that calls is `context.config`, its secrets are `context.secrets`.
export function execute({ to, subject }, context) {
  const { from_email: from, smtp_port: port } = context.config;
  context.logger.info(`signing in with ${context.secrets.api_key}`);
  return { sent: { from, to, subject, port } };
}
