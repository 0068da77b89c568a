import type { Route } from '@hotcell/contract/api/route.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** Of an address that exists, but not with this method: the methods that it takes. */
export function methodsAt(url: string): string[] {
  const [address = ''] = url.split('?', 1);
  const all = Object.values<Route>(routes);
  const exact = all.filter(({ path }) => path === address);
  const found = exact.length > 0 ? exact : all.filter(({ path }) => pattern(path).test(address));
  return found.map(({ method }) => method);
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replace('{path}', '.+').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

export function notFound(method: string, url: string): HotcellError {
  const [address = ''] = url.split('?', 1);
  const allow = methodsAt(url);
  return allow.length === 0
    ? new HotcellError('not_found', `${address} does not exist. See /openapi.json.`)
    : new HotcellError('method_not_allowed', `${address} does not take ${method}. Use ${allow.join(' or ')}.`, {
        extra: { allow },
      });
}
