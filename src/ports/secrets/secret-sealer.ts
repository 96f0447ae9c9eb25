// SecretSealer: secrets under envelope encryption. What is sealed for one place can be opened for no other.

/** Whose secret it is: a tenant's, for an agent, for a tool, under a name. */
export interface SecretPlace {
  readonly tenantId: string;
  readonly agent: string;
  readonly tool: string;
  readonly field: string;
}

/** Every method rejects with ToolFailure UNAVAILABLE: SECRETS_KEY_MISSING, SECRETS_PROVIDER_AWAY or SECRET_UNREADABLE. */
export interface SecretSealer {
  /** Under a new key of its own, each time. */
  seal(text: string, place: SecretPlace): Promise<string>;
  open(sealed: string, place: SecretPlace): Promise<string>;
  /** Wrapped by the current key. Undefined: it is already. */
  rewrap(sealed: string, place: SecretPlace): Promise<string | undefined>;
}
