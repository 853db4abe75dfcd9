// The player of a stream alone, for frames of other pages.
//   app= stream= vhost=   the stream, as in the address of its page
import { streamOf } from './stream_name.js';
import { StreamPlayer } from './stream_player.js';

new StreamPlayer(streamOf(new URLSearchParams(location.search))).start();
