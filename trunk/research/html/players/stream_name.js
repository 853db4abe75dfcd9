// The stream that a page is about, from its query: app=, stream=, vhost=. No DOM here.
import { DEFAULT_VHOST } from '../console/lib/site.js';

/** { vhost, app, name } */
export function streamOf(query) {
    return {
        vhost: query.get('vhost') || DEFAULT_VHOST,
        app: query.get('app') || 'live',
        name: query.get('stream') || 'livestream',
    };
}
