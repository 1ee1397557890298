-- compatible since: 0054_anchored_delays
-- Endpoints may sign with a key pair, send headers of their own, and show a client certificate.

alter table webhook_endpoints
  add column ed25519 boolean not null default false,
  -- Of the key pair that signs, from the first time that it was asked for; kept while it is not.
  add column public_key text,
  -- The values are sealed.
  add column header_names text[] not null default '{}',
  -- What everybody may see of it; the certificate and its key are sealed.
  add column client_certificate jsonb,
  add check (not ed25519 or public_key is not null);
alter table webhook_previous_secrets
  -- Of a key pair that was replaced. Null: it is a secret.
  add column public_key text;
