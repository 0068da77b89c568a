import type { PolicyView } from '@hotcell/contract/api/policies.ts';
import { ImageReport } from '@hotcell/contract/image-report.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { reportPath } from '@hotcell/setup/images/images-lock-file.ts';
import { textIfThere } from '@hotcell/setup/settings/config-file.ts';
import { settingsOf } from '@hotcell/setup/settings/installation.ts';

/** What is in an image, if it is the one that this installation built. */
export async function reportOf(
  image: PolicyView['policy']['images'][number] | undefined,
): Promise<ImageReport | undefined> {
  if (!image) return undefined;
  const { home } = await settingsOf(process.env);
  const path = reportPath(home, image.name);
  const text = await textIfThere(path);
  const report = text === undefined ? undefined : parseJsonAs(ImageReport, text, path);
  return report?.digest === image.digest ? report : undefined;
}
