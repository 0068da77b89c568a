import { commonSettings, readSettings } from '@hotcell/outside/process/settings.ts';
import { readNetworks } from '@hotcell/contract/address-guard.ts';
import { z } from 'zod';

/** Everything the producer reads from its environment, in one place. */
export const producerSettings = z.object({
  ...commonSettings,
  HOTCELL_LISTEN_HOST: z.string().min(1).default('127.0.0.1'),
  HOTCELL_LISTEN_PORT: z.coerce.number().int().min(0).max(65_535).default(7411),
  HOTCELL_STATE_DIR: z.string().min(1, 'a folder of the producer’s own: its read model and its signing key'),
  HOTCELL_POLICIES: z.string().min(1, 'the folder of the policies'),
  HOTCELL_IMAGES_LOCK: z.string().min(1, 'the file images.lock, written by every build of images'),
  HOTCELL_QUEUE_MAX: z.coerce.number().int().min(1).default(200_000),
  /** Of request bodies, held at once for all tenants. */
  HOTCELL_BODY_BYTES: z.coerce
    .number()
    .int()
    .min(4 * 1024 ** 2)
    .default(192 * 1024 ** 2),
  HOTCELL_STREAMS: z.coerce.number().int().min(2).default(2_000),
  HOTCELL_PATIENCE_SECONDS: z.coerce.number().int().min(1).max(600).default(30),
  /** How much each tenant may have: a file, see docs. */
  HOTCELL_QUOTAS: z.string().min(1).optional(),
  /** Stores outside that the operator opened to be frozen from: a file, see docs. */
  HOTCELL_SOURCES: z.string().min(1).optional(),
  /** Networks of the operator's own that webhooks may reach, with http:// too: 10.0.0.0/8, fd00::/8. */
  HOTCELL_WEBHOOK_NETWORKS: z.string().max(4096).default('').transform(readNetworks),
  HOTCELL_TICKET_KEY: z.string().min(1, 'the private key that signs tickets: Ed25519, PKCS#8, PEM'),
});
export type ProducerSettings = z.output<typeof producerSettings>;

export function readProducerSettings(env: Readonly<Record<string, string | undefined>>): ProducerSettings {
  return readSettings(producerSettings, env);
}
