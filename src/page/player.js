// player
